# ruff: noqa: F401
# pyright: reportUnusedImport=false
"""The settings of a stack, and the names of its secrets."""

from llmd_gke.settings import StackSettings, load_stack, required_secrets, stack_files
from llmd_gke.settings.secret_keys import CALLER_KEYS, NAMESPACE, STAND_IN_SECRET, caller_keys, command_to_set
