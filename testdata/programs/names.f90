! names.f90 - variables called like functions of Fortran, as in most MPI programs, and one whose type has no name.
module grid
  implicit none
  integer :: shape = 5
contains
  subroutine work(k)
    integer, intent(in) :: k
    integer :: rank, size(3)
    rank = k
    size = [1, 2, 3] * k
    print *, rank, size, shape
  end subroutine
  subroutine label(s)
    character(len=*), intent(in) :: s(:)
    print *, s
  end subroutine
end module

program names
  use grid
  implicit none
  character(len=10) :: text
  integer :: rank
  call get_environment_variable("SDM_RANK", text)
  read (text, *) rank
  call work(rank)
  call label(["one", "two"])
end program
