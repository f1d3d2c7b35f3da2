! kinds.f90 - values of every shape that Fortran has: bounds that are not 1, sections,
! allocatable and pointer arrays, derived types, texts, complex and logical numbers. Rank 2 has
! others than the rest.
module kinds
  implicit none
  type point
    real(8) :: x, y
  end type
  type, extends(point) :: cell
    integer :: id
    real(8) :: u(-5:994)
    character(len=8) :: name
    real(8), allocatable :: extra(:)
    type(point) :: corners(3)
  end type
  type(cell), target :: cells(0:9)
  type(cell), pointer :: one
  real(8) :: grid(-1:48, 0:39)
  real(8), allocatable :: temp(:,:), none(:)
  real(8), pointer :: section(:,:)
  complex(8) :: waves(300)
  complex :: z
  logical :: flags(300), done
  logical(1) :: bit
  character(len=12) :: names(300)
  character(len=:), allocatable :: label
  character(len=4000) :: long
  integer(8) :: big
  integer(1) :: tiny8
  integer :: cube(3, 4, 50)
  real(4) :: odd(4)
contains
  subroutine work(a, n, part, title)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n, *)
    real(8), intent(in) :: part(:, 2:)
    character(len=*), intent(in) :: title
    real(8) :: local(n, 2000) ! 1.6 MB
    local = part(1, 2)
    a(1, 1) = local(1, 1) + len(title)
    print *, a(1, 1), n
  end subroutine
end module

program main
  use kinds
  implicit none
  character(len=20) :: text
  integer :: rank, i, j, status
  real(8), target :: base(100, 100)
  call get_environment_variable("SDM_RANK", text, status=status)
  rank = 0
  if (status == 0) read (text, *) rank
  allocate (temp(0:99, 200))
  do j = 1, 100
    do i = 1, 100
      base(i, j) = i * 1000 + j
    end do
  end do
  section => base(2:100:2, 10:90)
  do j = 0, 39
    do i = -1, 48
      grid(i, j) = i * 100 + j
    end do
  end do
  temp = rank
  do i = 1, 300
    waves(i) = cmplx(i, -i, 8)
    flags(i) = mod(i, 3) == 0
    write (names(i), '(a,i0)') "name ", i
  end do
  do i = 0, 9
    cells(i)%id = i
    cells(i)%u = i
    cells(i)%name = "cell"
    cells(i)%x = rank
    allocate (cells(i)%extra(400))
    cells(i)%extra = i + 0.5
    cells(i)%corners = point(1, 2)
  end do
  one => cells(3)
  z = cmplx(1, rank)
  done = mod(rank, 2) == 0
  bit = .true.
  label = "a label"
  long = repeat("fortran ", 500)
  big = huge(big)
  tiny8 = -7
  cube = 7
  odd(1) = 0
  odd(2) = 1 / odd(1)
  odd(3) = -odd(2)
  odd(4) = odd(2) + odd(3)
  if (rank == 2) then
    grid(10, 20) = -1
    grid(10, 21) = -2
    temp(5, 7) = -3
    cells(4)%u(100) = -4
  end if
  call work(base, 100, section, "the title")
end program
