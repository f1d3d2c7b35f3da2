! hangf.F90 - a job that hangs, in Fortran, with the binding of MPI that its argument names:
!
!     mpirun -n 5 ./hangf f08
!
! Rank 3 waits for a message with tag 99 from rank 2, which sends it with tag 7. The others wait in an Allreduce.
! With -DNO_F08 the program does without the module mpi_f08.
module modern
contains
#ifndef NO_F08
    subroutine hang_f08()
        use mpi_f08
        integer :: rank, x, all
        call MPI_Comm_rank(MPI_COMM_WORLD, rank)
        x = rank
        if (rank == 2) call MPI_Send(x, 1, MPI_INTEGER, 3, 7, MPI_COMM_WORLD)
        if (rank == 3) call MPI_Recv(x, 1, MPI_INTEGER, 2, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Allreduce(x, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    end subroutine
#endif

    subroutine hang_mpi()
        use mpi
        integer :: rank, x, all, ierr
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        x = rank
        if (rank == 2) call MPI_Send(x, 1, MPI_INTEGER, 3, 7, MPI_COMM_WORLD, ierr)
        if (rank == 3) call MPI_Recv(x, 1, MPI_INTEGER, 2, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call MPI_Allreduce(x, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    end subroutine
end module

subroutine hang_mpif()
    include 'mpif.h'
    integer :: rank, x, all, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    x = rank
    if (rank == 2) call MPI_Send(x, 1, MPI_INTEGER, 3, 7, MPI_COMM_WORLD, ierr)
    if (rank == 3) call MPI_Recv(x, 1, MPI_INTEGER, 2, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Allreduce(x, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
end subroutine

program hangf
    use modern
    use mpi
    use, intrinsic :: iso_c_binding
    interface
        function getpid() bind(c)
            import :: c_int
            integer(c_int) :: getpid
        end function
    end interface
    character(len=8) :: binding
    integer :: rank, ierr

    call get_command_argument(1, binding)
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    print '(a,i0,a,i0)', 'rank ', rank, ' pid ', getpid()
    flush (6)
    select case (binding)
#ifndef NO_F08
    case ('f08')
        call hang_f08()
#endif
    case ('mpi')
        call hang_mpi()
    case ('mpif')
        call hang_mpif()
    end select
    call MPI_Finalize(ierr)
end program
