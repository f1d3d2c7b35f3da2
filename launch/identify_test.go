package launch

import (
	"strings"
	"testing"
)

func TestIdentify(t *testing.T) {
	none := Identity{Number: Unknown, Size: Unknown, Local: Unknown, Node: Unknown, LocalSize: Unknown}
	cases := []struct {
		name, env string
		want      Identity
	}{
		{"nothing", "HOME=/root", none},
		{"Open MPI rank", "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_RANK=3 PMIX_NAMESPACE=7.1 PMIX_HOSTNAME=sdm2",
			Identity{3, 4, 1, Unknown, 2, "sdm2", "7.1", "OMPI_COMM_WORLD_RANK", ""}},
		{"Open MPI's mpirun inside an allocation", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 PMIX_NAMESPACE=7.1 SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_ID=8 SLURM_STEP_ID=0 SLURM_NODEID=1",
			Identity{0, 4, Unknown, Unknown, Unknown, "", "7.1", "OMPI_COMM_WORLD_RANK", "8"}},
		{"MPICH", "PMI_RANK=1 PMI_SIZE=2 PMI_FD=9 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2 MPIR_CVAR_CH3_INTERFACE_HOSTNAME=sdm1",
			Identity{1, 2, 0, Unknown, 2, "sdm1", "", "PMI_RANK", ""}},
		{"MPICH, its proxies started by srun with pmix", "PMI_RANK=0 PMI_SIZE=6 PMI_FD=9 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=4 MPIR_CVAR_CH3_INTERFACE_HOSTNAME=n1 PMIX_RANK=0 PMIX_NAMESPACE=slurm.pmix.8.0 PMIX_HOSTNAME=n1 SLURM_PROCID=0 SLURM_NTASKS=6 SLURM_NODEID=0 SLURM_LOCALID=0 SLURM_JOB_ID=8 SLURM_STEP_ID=0",
			Identity{0, 6, 0, Unknown, 4, "n1", "", "PMI_RANK", "8"}},
		{"MPICH inside an allocation", "PMI_RANK=0 PMI_SIZE=2 PMI_FD=9 SLURM_PROCID=0 SLURM_NODEID=5 SLURM_JOB_ID=8 SLURM_STEP_ID=0",
			Identity{0, 2, Unknown, Unknown, Unknown, "", "", "PMI_RANK", "8"}},
		{"srun", "SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_NODEID=1 SLURM_LOCALID=1 SLURM_JOB_ID=12 SLURM_STEP_ID=3 SLURMD_NODENAME=n1 SLURM_GTIDS=3,4,5",
			Identity{5, 8, 1, 1, 3, "n1", "12.3", "SLURM_PROCID", ""}},
		{"srun with pmix", "PMIX_RANK=5 PMIX_NAMESPACE=slurm.pmix.12.3 PMIX_HOSTNAME=n1 SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_NODEID=1 SLURM_LOCALID=1 SLURM_JOB_ID=12 SLURM_STEP_ID=3",
			Identity{5, 8, 1, 1, Unknown, "n1", "12.3", "SLURM_PROCID", ""}},
		{"srun with pmi2", "PMI_RANK=1 PMI_SIZE=2 PMI_FD=9 PMI_JOBID=12.3 SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NODEID=1 SLURM_JOB_ID=12 SLURM_STEP_ID=3",
			Identity{1, 2, 0, 1, Unknown, "", "12.3", "SLURM_PROCID", ""}},
		{"the script of a batch job", "SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_JOB_ID=12", Identity{0, 8, Unknown, Unknown, Unknown, "", "", "SLURM_PROCID", ""}},
		{"Hydra's proxy under srun with pmix", "PMIX_RANK=1 PMIX_NAMESPACE=slurm.pmix.12.3 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_JOB_ID=12 SLURM_STEP_ID=3",
			Identity{1, 2, Unknown, Unknown, Unknown, "", "12.3", "SLURM_PROCID", ""}},
		{"PRRTE inside an allocation", "PMIX_RANK=2 PMIX_NAMESPACE=prterun-1@1 SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_JOB_ID=8 SLURM_STEP_ID=0",
			Identity{2, Unknown, Unknown, Unknown, Unknown, "", "prterun-1@1", "PMIX_RANK", "8"}},
		{"old Open MPI", "OMPI_MCA_orte_ess_vpid=2", Identity{2, Unknown, Unknown, Unknown, Unknown, "", "", "OMPI_MCA_orte_ess_vpid", ""}},
		{"older Open MPI", "OMPI_MCA_ns_nds_vpid=2", Identity{2, Unknown, Unknown, Unknown, Unknown, "", "", "OMPI_MCA_ns_nds_vpid", ""}},
		{"POE", "MP_CHILD=2", Identity{2, Unknown, Unknown, Unknown, Unknown, "", "", "MP_CHILD", ""}},
		{"PCMP", "PCMP_PTP_RANK=2", Identity{2, Unknown, Unknown, Unknown, Unknown, "", "", "PCMP_PTP_RANK", ""}},
		{"the first of two counts", "PMI_RANK=1 PMI_RANK=2", Identity{1, Unknown, Unknown, Unknown, Unknown, "", "", "PMI_RANK", ""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Identify(strings.Fields(c.env))
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestIdentifyRefuses(t *testing.T) {
	cases := []struct{ name, env, want string }{
		{"no number", "PMI_RANK=one", `PMI_RANK="one" is not a number`},
		{"negative", "PMIX_RANK=-2 PMI_RANK=1", `PMIX_RANK="-2" is not a number`},
		{"size no number", "PMI_RANK=1 PMI_SIZE=many", `PMI_SIZE="many" is not a number`},
		{"beyond the size", "SLURM_PROCID=4 SLURM_NTASKS=4", "SLURM_PROCID is 4, but the size of the job is 4"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, err := Identify(strings.Fields(c.env)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, %v; want error %q", got, err, c.want)
			}
		})
	}
}
