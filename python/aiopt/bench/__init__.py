"""How fast a net is: beside other engines, beside what the machine can do, and beside an earlier record."""
