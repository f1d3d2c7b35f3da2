! Values of Fortran that a front end of Eclipse PTP shows: see cmd/internal/e2e/eclipse_values_test.go.
program aif
    implicit none
    type point
        real(8) :: x
        integer :: tag(3)
        logical :: on
        character(len=5) :: name
        complex(8) :: z
    end type
    type(point) :: p, many(2)
    integer :: grid(2:4, 2)
    integer(2) :: short
    logical :: yes
    character(len=8) :: word
    complex :: c
    real(8), allocatable :: line(:)

    allocate (line(3))
    line = [1.5d0, 2.5d0, 3.5d0]
    grid = reshape([1, 2, 3, 4, 5, 6], [3, 2])
    short = -3
    yes = .true.
    word = 'hello'
    c = (1.0, 2.0)
    p = point(0.5d0, [7, 8, 9], .true., 'abc', (3d0, 4d0))
    many = p
    print *, p%x, many(1)%x, grid(2, 1), short, yes, word, c, line(1) ! stops here
end program
