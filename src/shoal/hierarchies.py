"""How values of a column are grouped into coarser ones."""

from shoal.names import namespace

namespace(__name__)
