! Values of Fortran that a front end of Eclipse PTP shows: see cmd/internal/check/e2e/eclipse_values_test.go.
module shared
    implicit none
    type point
        real(8) :: x
        integer :: tag(3)
        logical :: on
        character(len=5) :: name
        complex(8) :: z
    end type
    type node
        integer :: value
        type(point) :: at
        real(8), allocatable :: extra(:)
        type(node), pointer :: next => null()
    end type
    type(node), target :: head, tail
    type(point) :: many(0:1)
    integer, target :: table(4, 6)
    integer, pointer :: part(:, :)
    real(4) :: odd(3)
end module

program aif
    use shared
    implicit none
    type(point) :: p
    integer :: grid(2:4, 2)
    integer(2) :: short
    logical :: yes
    character(len=8) :: word
    complex :: c
    real(8), allocatable :: line(:), none(:)
    integer :: i

    allocate (line(3))
    line = [1.5d0, 2.5d0, 3.5d0]
    grid = reshape([1, 2, 3, 4, 5, 6], [3, 2])
    short = -3
    yes = .true.
    word = 'it''s'
    c = (1.0, 2.0)
    p = point(0.5d0, [7, 8, 9], .true., 'abc', (3d0, 4d0))
    many = p
    table = reshape([(i, i=1, 24)], [4, 6])
    part => table(2:4:2, 3:6:3)
    head%value = 1
    head%at = p
    head%next => tail
    allocate (head%extra(-1:2))
    head%extra = 2.5d0
    tail%value = 2
    tail%at = p
    odd = [0.0, 1.0, -1.0]
    odd(2:3) = odd(2:3) / odd(1)
    call look(part, 'the title') ! stops here
contains
    subroutine look(a, title)
        integer, intent(in) :: a(:, 0:)
        character(len=*), intent(in) :: title
        print *, a(1, 0), title, p%x, many(1)%x, grid(2, 1), short, yes, word, c, line(1), allocated(none)
    end subroutine
end program
