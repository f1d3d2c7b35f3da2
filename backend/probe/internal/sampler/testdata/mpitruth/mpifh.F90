! The binding of mpif.h.
#define MPIFH
#define NAME fortran_mpifh
#include "fortran.inc"
