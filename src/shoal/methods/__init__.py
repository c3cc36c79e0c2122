"""How groups are found. Methods see codes and principles, never cells or files."""

from shoal.names import namespace

namespace(__name__)
