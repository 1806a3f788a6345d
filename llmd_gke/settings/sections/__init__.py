"""The shape of a stack's settings: names, types, defaults. One section a file.
Rules across fields are in :mod:`llmd_gke.settings.validation`.

Keys are written in camelCase in ``Pulumi.<stack>.yaml``, under the project's namespace ``llmd-gke:``. Nothing here
holds a secret: tokens are read by the program as Pulumi secrets and never enter these objects.
"""
