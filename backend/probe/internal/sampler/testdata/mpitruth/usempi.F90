! The binding of the module mpi.
#define USEMPI
#define NAME fortran_usempi
#include "fortran.inc"
