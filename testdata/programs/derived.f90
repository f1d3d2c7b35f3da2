! derived.f90 - derived types and arrays whose members are listed.
!
! build: gfortran -g -O0 -J $OUT -o $OUT/derived derived.f90 && gfortran -g -O2 -J $OUT -o $OUT/derived-O2 derived.f90
module parts
  implicit none
  type base
    integer :: id = 1
  end type
  type, extends(base) :: cell
    real(8) :: x = 1.5, y = 2.5
    real(8), allocatable :: w(:)
    integer :: grid(3, 4) = 7
    type(base), pointer :: up => null()
    character(len=4) :: name = 'cell'
    complex(8) :: z = (1d0, 2d0)
  end type
  type(cell), target :: one
  type(cell) :: many(0:2)
  real(8) :: field(2:5001)
  real(4), allocatable :: plane(:, :)
  integer :: kind(3) = [1, 2, 3]
end module

program derived
  use parts
  implicit none
  integer :: i
  allocate (one%w(-1:1), one%up, plane(0:2, 2000))
  one%w = 0.5d0
  one%up%id = 9
  do i = 2, 5001
    field(i) = i
  end do
  plane = 3
  plane(1, 1500) = 4
  call stop_here(plane, many)
contains
  subroutine stop_here(a, c)
    real(4), intent(in) :: a(:, :)
    type(cell), intent(in) :: c(:)
    print *, a(1, 1), c(1)%x, field(3), one%w(0), kind(2) ! stops here
  end subroutine
end program
