# The public names of shoal.methods: each loads its module when it is first used.

from shoal.methods.exchange import Exchange as Exchange
from shoal.methods.exchange import XColor as XColor
from shoal.methods.freeform.method import Freeform as Freeform
from shoal.methods.freeform.method import Ring as Ring
from shoal.methods.mondrian import Mondrian as Mondrian
from shoal.methods.oblivious import Oblivious as Oblivious
from shoal.methods.splitting import Split as Split
