! The binding of the module mpi_f08.
#define F08
#define NAME fortran_f08
#include "fortran.inc"
