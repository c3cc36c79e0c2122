"""Other ways to publish a table, to compare with."""

from shoal.names import namespace

namespace(__name__)
