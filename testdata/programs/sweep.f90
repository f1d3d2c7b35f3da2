! sweep.f90 - a transport code in small: modules, derived types, allocatable and assumed-shape
! arrays, and a procedure whose arguments have bounds that are computed on entry, as those of
! SNAP's dim3_sweep: at its first line their descriptors are not initialised yet. With the
! argument "litter" these hold what was on the stack: arrays of 10**10 empty rows, which a
! debugger that reads them is busy with for minutes.
module precision
  implicit none
  integer, parameter :: rk = selected_real_kind(15)
  integer, parameter :: ndim = 3
end module

module geometry
  use precision
  implicit none
  integer :: nx = 4, ny = 5, nz = 6, nang = 8
  type :: face
    integer :: side
    real(rk) :: area
    character(len=8) :: label
  end type
  type :: material
    character(len=:), allocatable :: name
    real(rk), allocatable :: sigma(:)
    complex(rk) :: index
    logical :: fissile
  end type
  type, extends(material) :: mixture
    type(face) :: faces(2)
    real(rk), pointer :: share(:) => null()
  end type
contains
  pure function volume(dx, dy, dz) result(v)
    real(rk), intent(in) :: dx, dy, dz
    real(rk) :: v
    v = dx * dy * dz
  end function
end module

module sweeps
  use precision
  use geometry
  implicit none
  real(rk), allocatable :: flux(:,:,:), late(:)
  real(rk), allocatable, target :: psi(:,:,:,:)
  logical :: littered = .false.
contains
  ! All that has a shape here gets it from other arguments and from the module.
  subroutine dim3_sweep(id, d1, d2, d3, d4, jlo, jhi, psii, psij, ptr_in, ptr_out, qtot, fluxm, total, option)
    integer, intent(in) :: id, d1, d2, d3, d4, jlo, jhi
    real(rk), dimension(nang,ny,nz), intent(inout) :: psii
    real(rk), dimension(nang,nx,nz), intent(inout) :: psij
    real(rk), dimension(d1,d2,d3,d4), intent(in) :: ptr_in
    real(rk), dimension(d1,d2,d3,d4), intent(out) :: ptr_out
    real(rk), dimension(nx,jlo:jhi,nz), intent(in) :: qtot
    real(rk), intent(inout) :: fluxm(:,:,:)
    real(rk), intent(out) :: total
    character(len=*), intent(in) :: option
    real(rk), dimension(nang) :: psi_local, hv
    real(rk), dimension(:,:), allocatable :: scratch
    integer :: i, j, k
    total = 0
    allocate(scratch(d1, 0:id))
    scratch = id
    do k = 1, d4
      do j = jlo, min(jhi, d3)
        do i = 1, d2
          psi_local = psii(:,j,k) + psij(:,i,k) + ptr_in(:,i,j,k)
          hv = 0.5_rk * psi_local
          ptr_out(:,i,j,k) = hv + qtot(i,j,k)
          fluxm(i,j,k) = sum(hv)
          total = total + fluxm(i,j,k) ! swept
        end do
      end do
    end do
    if (option == 'double') total = 2 * total
    deallocate(scratch)
  end subroutine

  ! Leaves numbers on the stack where the next procedure has its descriptors.
  subroutine litter(seed, sum)
    integer, intent(in) :: seed
    integer(8), intent(out) :: sum
    integer(8) :: heap(400)
    integer :: i
    do i = 1, size(heap)
      heap(i) = merge(-1, 2000000000, mod(i, 4) == seed)
    end do
    sum = heap(1)
  end subroutine

  subroutine allocate_all(rank)
    integer, intent(in) :: rank
    integer :: i
    allocate(flux(nx, ny, nz), psi(nang, nx, ny, nz))
    flux = 0
    psi = reshape([(real(i + rank, rk), i = 1, size(psi))], shape(psi))
  end subroutine
end module

module ranks
  implicit none
contains
  integer function my_rank()
    character(len=32), parameter :: names(4) = [character(len=32) :: &
      'SDM_RANK', 'OMPI_COMM_WORLD_RANK', 'PMIX_RANK', 'PMI_RANK']
    character(len=16) :: value
    integer :: i, status
    my_rank = 0
    do i = 1, size(names)
      call get_environment_variable(trim(names(i)), value, status=status)
      if (status == 0) then
        read (value, *) my_rank
        return
      end if
    end do
  end function
end module

subroutine octant(id, fuel, out, total)
  use sweeps
  implicit none
  integer, intent(in) :: id
  type(mixture), intent(inout) :: fuel
  real(rk), intent(out) :: out(nang, nx, ny, nz)
  real(rk), intent(out) :: total
  real(rk), allocatable :: psii(:,:,:), psij(:,:,:), qtot(:,:,:)
  integer(8) :: used
  allocate(psii(nang,ny,nz), psij(nang,nx,nz), qtot(nx,ny,nz))
  psii = 1; psij = 2; qtot = fuel%sigma(1)
  if (littered) call litter(0, used)
  call dim3_sweep(id, nang, nx, ny, nz, 1, ny, psii, psij, psi, out, qtot, flux, total, 'single')
  fuel%sigma(1) = fuel%sigma(1) + 1 ! octant done
end subroutine

program sweep
  use ranks
  use sweeps
  implicit none
  type(mixture), target :: fuel
  real(rk), allocatable :: out(:,:,:,:)
  real(rk), target :: parts(3)
  real(rk) :: total, sums(8)
  complex(rk) :: phase
  integer :: rank, id
  character(len=8) :: argument
  call get_command_argument(1, argument)
  littered = argument == 'litter'
  rank = my_rank()
  call allocate_all(rank)
  allocate(out(nang, nx, ny, nz))
  fuel%name = 'uranium'; fuel%sigma = [real(rk) :: 1, 2, 3 + rank]; fuel%index = (1.5, -0.5)
  fuel%fissile = mod(rank, 2) == 0
  fuel%faces = [face(1, 0.5_rk, 'left'), face(2, volume(1._rk, 2._rk, 3._rk), 'right')]
  parts = [0.25_rk, 0.5_rk, rank * 1._rk]
  fuel%share => parts
  do id = 1, 8
    call octant(id, fuel, out, total)
    sums(id) = total
    phase = cmplx(id, -rank, rk) * fuel%index
  end do
  print '(a,i0,a,2f12.2,2f8.2)', 'rank ', rank, ':', sums(8), out(1,1,1,1), phase
end program
