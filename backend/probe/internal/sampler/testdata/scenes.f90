! A program that stands in a contained procedure, which was called by way of the stack. It writes r before.
module scenes
  use iso_c_binding
  implicit none
  interface
    integer(c_size_t) function c_write(fd, text, n) bind(c, name="write")
      use iso_c_binding
      integer(c_int), value :: fd
      character(kind=c_char) :: text(*)
      integer(c_size_t), value :: n
    end function
    integer(c_int) function c_pause() bind(c, name="pause")
      use iso_c_binding
    end function
  end interface
  integer :: n = 7
contains
  subroutine outer(a)
    real(8) :: a(:, :)
    real(8) :: b(size(a, 1))
    b = sum(matmul(a, transpose(a)), 1)
    call apply(inner)
    n = n + int(b(1))
  contains
    subroutine inner(k)
      integer :: k
      integer(c_size_t) :: w
      w = c_write(1_c_int, "r", 1_c_size_t)
      do while (b(1) > -1)
        n = k + c_pause()
      end do
    end subroutine
  end subroutine
  subroutine apply(f)
    interface
      subroutine f(k)
        integer :: k
      end subroutine
    end interface
    call f(n)
    n = n + 1
  end subroutine
end module
program main
  use scenes
  real(8) :: x(100, 100)
  x = 1
  call outer(x(1:50:3, 2:90:7))
  print *, n
end program
