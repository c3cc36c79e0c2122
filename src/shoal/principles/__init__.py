"""What must hold, as immutable objects that measure groups."""

from shoal.names import namespace

namespace(__name__)
