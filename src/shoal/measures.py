"""What a release is good for, what it shows, and what readers can do with it."""

from shoal.names import namespace

namespace(__name__)
