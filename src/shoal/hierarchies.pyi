# The public names of shoal.hierarchies: each loads its module when it is first used.

from shoal.table.groupings import Bins as Bins
from shoal.table.groupings import Calendar as Calendar
from shoal.table.groupings import Grouped as Grouped
from shoal.table.groupings import Listed as Listed
from shoal.table.groupings import Prefix as Prefix
from shoal.table.groupings import Quantiles as Quantiles
