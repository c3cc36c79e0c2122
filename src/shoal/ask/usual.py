"""How likely a reader may find a person, as it is usual: one place, so that all speak of the same.

For clinical data that anybody may read, the European Medicines Agency (policy 0070) and Health
Canada name 0.09, their rounding of 1 in 11. It is taken as 1 in 11, itself included.
"""

from __future__ import annotations

KNOWN = 5  # who share every description, for readers who sign an agreement
EVERYBODY = 11  # and where anybody may read
THRESHOLD = f"1/{EVERYBODY}"
