! Procedures whose arrays have bounds without values where they begin: junk of earlier calls, as in
! real programs. A debugger that reads such an array never comes to an end, or dies.
module m
contains
 recursive subroutine dirty(k, seed)
  integer, intent(in) :: k
  integer(8), intent(in) :: seed
  integer(8) :: junk(200)
  integer :: i
  do i = 1, 200
    junk(i) = seed
  end do
  if (k > 0) call dirty(k-1, seed)
  if (junk(3) == 12345) print *, junk(3)
 end subroutine
 subroutine sweep(nx, ny, nz, a, b, c)
  integer, intent(in) :: nx, ny, nz
  real(8), intent(inout) :: a(:,:,:)
  real(8), intent(inout) :: b(nx,ny,nz)
  real(8), intent(inout) :: c(0:nx+1,ny,nz)
  real(8) :: auto(nx,ny,nz)
  real(8), allocatable :: al(:,:)
  auto = 0
  b = auto + c(1:nx,:,:)
  call leaf(b(1,1,1), nx)
  a(1,1,1) = b(1,1,1)
 end subroutine
 subroutine leaf(x, n)
  real(8), intent(inout) :: x
  integer, intent(in) :: n
  x = x + n
 end subroutine
end module
program p
 use m
 implicit none
 real(8), allocatable :: a(:,:,:)
 real(8) :: b(4,4,4), c(0:5,4,4)
 integer :: i
 allocate(a(4,4,4))
 a = 1; b = 2; c = 3
 do i=1,3
  call dirty(3, 4611686018427387904_8 / 8 * i)
  call sweep(4,4,4, a, b, c)
 end do
 print *, b(1,1,1), a(1,1,1)
end program
