# The public names of shoal.rivals: each loads its module when it is first used.

from shoal.utility.anatomy import Anatomy as Anatomy
from shoal.utility.perturb import Perturb as Perturb
