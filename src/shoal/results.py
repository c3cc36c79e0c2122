"""What the functions of Shoal return."""

from shoal.names import namespace

namespace(__name__)
