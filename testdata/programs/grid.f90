! grid.f90 - what Fortran programs hold: arrays that begin at 1, of one and two
! dimensions, a complex number, a text.
program grid
  implicit none
  integer :: squares(1000), i
  complex :: z
  real(8) :: m(2,3)
  character(len=10) :: name
  do i = 1, 1000
    squares(i) = i * i
  end do
  z = (1.5, -2.0)
  m = reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [2, 3])
  name = "fortran"
  print *, squares(3), z, m(2,2), name
end program
