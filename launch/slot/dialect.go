// Options of starters, as far as they are needed to find the program in a line.

package slot

import (
	"path/filepath"
	"strings"
)

// dialect is the syntax of the options of a family of starters.
type dialect struct {
	valued  map[string]int // options with values, without dashes, and how many they have
	bare    map[string]bool
	np      []string // options that give the number of ranks
	instead []string // options that name a file in place of programs
	short   string   // one-letter options with a value, which may be in the same word (-n4); "" for none
}

// dialectOf selects the dialect by the starter's name, or by the file that it is a link to (mpirun
// is a link on many systems). An unknown starter is treated as an mpirun.
func dialectOf(name, resolved string) dialect {
	switch {
	case base(name) == "srun" || base(resolved) == "srun":
		return dialect{valued: srunValued, bare: set(srunBare), np: []string{"n", "ntasks"}, instead: []string{"multi-prog"}, short: srunShort}
	case strings.Contains(filepath.Base(resolved), "hydra") || strings.Contains(filepath.Base(name), "mpich"):
		return dialect{valued: hydraValued, bare: set(hydraBare), np: []string{"n", "np"}, instead: []string{"configfile"}}
	case base(name) == "jsrun":
		return dialect{valued: jsrunValued, np: []string{"p", "np"}}
	case isOpenMPI(name, resolved), base(name) == "prun":
		return dialect{valued: openMPIValued, bare: set(openMPIBare), np: []string{"n", "np", "c"}, instead: []string{"app"}}
	}
	d := dialect{valued: map[string]int{}, bare: set(openMPIBare + " " + hydraBare), np: []string{"n", "np"},
		instead: []string{"app", "configfile"}}
	for _, table := range []map[string]int{hydraValued, openMPIValued} {
		for name, n := range table {
			d.valued[name] = n
			delete(d.bare, name)
		}
	}
	return d
}

func isOpenMPI(name, resolved string) bool {
	return base(resolved) == "orterun" || base(name) == "oshrun" || base(name) == "shmemrun" || strings.Contains(filepath.Base(name), "openmpi")
}

// base returns the name of a starter without the suffix of a distribution.
func base(path string) string {
	b, _, _ := strings.Cut(filepath.Base(path), ".")
	return b
}

// values returns how many of the following words are values of the option text. name is text without
// dashes and without "=VALUE".
func (d dialect) values(text, name string) (n int, known bool) {
	if d.short != "" && !strings.HasPrefix(text, "--") {
		return d.letters(text[1:]), true
	}
	if n, ok := d.valued[name]; ok {
		return n, true
	}
	if d.bare[name] {
		return 0, true
	}
	if d.short == "" {
		return 0, false
	}
	return d.abbreviated(name)
}

// letters reads a cluster of one-letter options as getopt(3) does: the first one with a value
// takes the rest of the word as its value, or the next word.
func (d dialect) letters(cluster string) int {
	at := strings.IndexAny(cluster, d.short)
	if at >= 0 && at == len(cluster)-1 {
		return 1
	}
	return 0
}

// abbreviated reads an abbreviated long option, as getopt_long(3) permits if the abbreviation is
// unambiguous.
func (d dialect) abbreviated(name string) (n int, known bool) {
	found := map[int]bool{}
	for long, values := range d.valued {
		if strings.HasPrefix(long, name) {
			found[values] = true
		}
	}
	for long := range d.bare {
		if strings.HasPrefix(long, name) {
			found[0] = true
		}
	}
	if len(found) != 1 {
		return 0, false
	}
	for values := range found {
		n = values
	}
	return n, true
}

// glued splits a word that has a one-letter option and its value (-n4), if the dialect permits that;
// otherwise both results are empty.
func (d dialect) glued(text string) (name, value string) {
	if d.short == "" || len(text) < 3 || strings.HasPrefix(text, "--") {
		return "", ""
	}
	return text[1:2], text[2:]
}

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// ones returns a table of options that have one value, and of more.
func ones(words string, more map[string]int) map[string]int {
	all := map[string]int{}
	for _, w := range strings.Fields(words) {
		all[w] = 1
	}
	for w, n := range more {
		all[w] = n
	}
	return all
}

// The options of the starters: "mpirun --help full" of Open MPI 4.1, "mpiexec -help" of MPICH 4.0
// and 3.4 and other options that its parser accepts, "srun --help" and the manual of Slurm 22.05,
// with options of earlier and later versions unless they contradict one another. The tables are
// never written.
var (
	openMPIValued = ones(`am app bind-to c n np N cf cartofile cpu-list cpu-set cpus-per-proc cpus-per-rank debugger
		default-hostfile H host hnp hostfile launch-agent machinefile map-by max-restarts max-vm-size npernode npersocket
		ompi-server output-filename path personality ppr prefix preload-files rank-by report-events report-pid report-uri
		rf rankfile stdin timeout tune wd wdir x xml-file xterm forward-signals display output runtime-options pset
		dvm-uri num-connect-retries with-ft output-directory exec-agent tmpdir server-wait-time slot-list`,
		map[string]int{"mca": 2, "gmca": 2, "omca": 2, "gomca": 2, "pmixmca": 2, "gpmixmca": 2, "prtemca": 2})
	openMPIBare = `allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous d debug-devel debug
		debug-daemons debug-daemons-file disable-recovery display-allocation display-devel-allocation display-devel-map
		display-diffable-map display-map display-topo do-not-launch do-not-resolve dvm enable-instant-on-support
		enable-recovery fwd-mpirun-port get-stack-traces index-argv-by-rank leave-session-attached
		merge-stderr-to-stdout nolocal nooversubscribe noprefix novm output-proctable oversubscribe pernode q quiet
		report-bindings report-child-jobs-separately report-state-on-timeout s preload-binary set-cwd-to-session-dir
		show-progress tag-output timestamp-output tv use-hwthread-cpus use-regexp v verbose xml`

	hydraValued = ones(`n np genvlist envlist f machinefile hostfile host hosts wdir wd path ppn configfile launcher launcher-exec
		bootstrap bootstrap-exec rmk topolib bind-to map-by membind demux iface prepend-pattern outfile-pattern
		errfile-pattern outfile errfile nameserver order-nodes localhost usize gpus-per-proc gpu-subdevs-per-proc s arch
		ckpoint-interval ckpoint-prefix ckpoint-num ckpointlib timeout port-range hostlist ranks-per-proc perhost rr-size
		ppr soft`,
		map[string]int{"genv": 2, "env": 2})
	hydraBare = `genvnone genvall envnone envall enable-x disable-x verbose v info print-all-exitcodes profile prepend-rank l
		disable-auto-cleanup disable-hostname-propagation pmi-port skip-launch-node print-rank-map dbg gdb gdba rr tv`

	// jsrunValued has the options of IBM's jsrun that are in scripts of its users; sdm guesses about others.
	jsrunValued = ones(`n nrs a tasks_per_rs c cpu_per_rs g gpu_per_rs r rs_per_host K rs_per_socket p np b bind d launch_distribution
		l latency_priority m memory_per_rs M smpiargs E env h chdir X exit_on_error e stdio_mode o stdio_stdout k stdio_stderr
		t stdio_input U erf_input P pre_post_exec`, nil)

	// srunShort are the one-letter options of srun that have a value.
	srunShort  = "ABbcCdDeGiJLmMnNopqrStTwWx"
	srunValued = ones(`account acctg-freq bb bbf bcast bcast-exclude begin burst-buffer cluster-constraint clusters comment compress-level
		constraint container comment core-spec cores-per-socket cpu-bind cpu_bind cpu-freq cpus-per-gpu cpus-per-task deadline
		delay-boot dependency distribution epilog error export extra-node-info exclude gpu-bind gpu-freq gpus gpus-per-node
		gpus-per-socket gpus-per-task gid gres gres-flags het-group hint immediate-time input job-name jobid licenses
		mail-type mail-user max-exit-timeout max-threads mcs-label mem mem-bind mem_bind mem-per-cpu mem-per-gpu
		mincpus mloaderimage mpi msg-timeout network nodefile nodelist nodes ntasks ntasks-per-core
		ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode output partition power prefer
		priority profile prolog qos relative reservation segment  signal slurmd-debug sockets-per-node
		switches task-epilog task-prolog thread-spec threads threads-per-core time time-min tmp tree-width tres-bind
		tres-per-job tres-per-node tres-per-socket tres-per-task uid wait wckey chdir mail`, nil)
	srunBare = `contiguous debugger-test disable-status exact exclusive external-launcher help hold
		immediate interactive compress kill-on-bad-exit label kill-on-invalid-dep multi-prog no-allocate nice no-kill no-requeue no-shell
		overcommit overlap oversubscribe preserve-env propagate pty quiet quit-on-interrupt reboot requeue resv-ports send-libs
		share sockets-per-task spread-job test-only unbuffered usage use-min-nodes verbose version whole x11`
)
