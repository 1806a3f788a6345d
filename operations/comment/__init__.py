"""``llmd-gke comment``: the changes of a pull request as the text of one comment. Any machine can generate it; CI posts
it.
"""
