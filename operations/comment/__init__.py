"""``llmd-gke comment``: what a pull request changes, as the text of one comment. Made anywhere, posted by CI."""
