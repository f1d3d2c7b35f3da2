// Finds the PMIx servers of this host.

package pmix

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sdm/launch"
	"sdm/protocol"
)

// Target says which server is wanted. The zero value is the only one that there is, or of several
// the server of the system.
type Target struct {
	PID       int    // its process id; 0: any
	Namespace string // its namespace, or a job's on it; "": any
	File      string // a file that begins with its address; "": it is searched for
}

// Found is a server that can be connected to.
type Found struct {
	Rendezvous
	System bool // it is the server of the system
}

// Passed is a rendezvous file that was not used.
type Passed struct {
	File string
	Why  error
}

func (p Passed) String() string { return fmt.Sprintf("%s: %v", p.File, p.Why) }

// searchDepth is how many directories below a temporary directory may hold rendezvous files.
const searchDepth = 1

// Directories returns the directories that libpmix and PRRTE use for rendezvous files, from an
// environment.
func Directories(env []string) []string {
	var all []string
	for _, name := range []string{"PMIX_SERVER_TMPDIR", "PMIX_SYSTEM_TMPDIR", "TMPDIR", "TEMP", "TMP"} {
		for _, e := range env {
			if dir, is := strings.CutPrefix(e, name+"="); is && filepath.IsAbs(dir) {
				all = append(all, filepath.Clean(dir))
			}
		}
	}
	all = append(all, "/tmp")
	slices.Sort(all)
	return slices.Compact(all)
}

// Search looks for servers of this user on this host. libpmix itself would compare only the first
// digits of process ids and stop at the first stale file, and it reports neither. For a file that is
// stale, foreign or unreadable Search returns the reason, with the same text at each call. Hosts may
// share a directory, so the name of a file tells on which host its process is.
func Search(dirs []string) (found []Found, passed []Passed) {
	here, _ := os.Hostname() // "": no file is used, and passed says so
	for _, dir := range dirs {
		for _, path := range candidates(dir) {
			r, err := read(path)
			if host := hostOf(path); err == nil && !protocol.SameHost(host, here) {
				err = fmt.Errorf("its server is on host %s", host)
			}
			if err != nil {
				passed = append(passed, Passed{path, err})
				continue
			}
			found = append(found, Found{r, isSystem(path)})
		}
	}
	return found, passed
}

// candidates returns the paths of rendezvous files by their names: pmix.sys.HOST in the directory,
// pmix.HOST.tool[.PID|.NAMESPACE] below it.
func candidates(dir string) (paths []string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		below, _ := filepath.Rel(dir, path)
		switch {
		case err != nil, d.IsDir() && below != "." && strings.Count(below, "/") >= searchDepth:
			return fs.SkipDir
		case !d.IsDir() && (isSystem(path) || isTool(d.Name())):
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

func isSystem(path string) bool { return strings.HasPrefix(filepath.Base(path), "pmix.sys.") }

func isTool(name string) bool {
	return strings.HasPrefix(name, "pmix.") && strings.Contains(name, ".tool")
}

// hostOf returns HOST of the names of candidates.
func hostOf(path string) string {
	name := strings.TrimPrefix(filepath.Base(path), "pmix.")
	if host, system := strings.CutPrefix(name, "sys."); system {
		return host
	}
	host, _, _ := strings.Cut(name, ".tool")
	return host
}

// read reads and checks a rendezvous file: it belongs to this user, only its owner can write it,
// and the process that it names exists, belongs to the same user, and is not younger than the file.
func read(path string) (Rendezvous, error) {
	text, info, err := readOwn(path)
	if err != nil {
		return Rendezvous{}, err
	}
	r, err := ParseRendezvous(text)
	r.File = path
	if err != nil || r.PID == 0 {
		return r, err
	}
	return r, checkProcess(r, info)
}

// readOwn reads a small regular file of this user. The descriptor is checked, not the name, so
// that the file cannot be exchanged in between.
func readOwn(path string) (string, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", nil, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, cause(err)
	}
	owner := ownerOf(info)
	switch {
	case !info.Mode().IsRegular():
		return "", nil, errors.New("not a file")
	case owner != os.Geteuid():
		return "", nil, fmt.Errorf("it belongs to user %d", owner)
	case info.Mode().Perm()&0o022 != 0:
		return "", nil, errors.New("other users may write it")
	case info.Size() > maxFile:
		return "", nil, fmt.Errorf("longer than %d bytes", maxFile)
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(f)
	return b.String(), info, cause(err)
}

// cause removes the path from an error.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

// clockSlack is how much later than its file a server may seem to have started, because the two
// clocks tick coarsely.
const clockSlack = 2 * time.Second

func checkProcess(r Rendezvous, file fs.FileInfo) error {
	process, err := os.Stat(filepath.Join("/proc", strconv.Itoa(r.PID)))
	if err != nil {
		return fmt.Errorf("its server, process %d, has ended", r.PID)
	}
	if owner := ownerOf(process); owner != ownerOf(file) || r.UID >= 0 && owner != r.UID {
		return fmt.Errorf("process %d belongs to user %d", r.PID, owner)
	}
	stat := statOf(r.PID)
	if len(stat) > 0 && (stat[0] == "Z" || stat[0] == "X") {
		return fmt.Errorf("its server, process %d, has ended, and its parent has not waited for it", r.PID)
	}
	if began, known := startIn(stat); known && began.After(file.ModTime().Add(clockSlack)) {
		return fmt.Errorf("its server has ended: process %d is younger than the file", r.PID)
	}
	return nil
}

// ticks is the unit of times in /proc/PID/stat, USER_HZ, which is 100 on all platforms of sdm.
const ticks = time.Second / 100

// statOf returns the fields of /proc/PID/stat after the name, from the state on (proc(5), fields 3 and
// up); nil if the process is gone.
func statOf(pid int) []string {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the name may hold anything
}

// startIn returns when a process was started. Sources: proc(5), field 22 of /proc/PID/stat, and
// btime of /proc/stat.
func startIn(fields []string) (began time.Time, known bool) {
	system, err := os.ReadFile("/proc/stat")
	_, boot, found := strings.Cut(string(system), "\nbtime ") // seconds since 1970
	if err != nil || !found || len(fields) < 20 {
		return began, false
	}
	boot, _, _ = strings.Cut(boot, "\n")
	seconds, err1 := strconv.ParseInt(boot, 10, 64)
	since, err2 := strconv.ParseInt(fields[19], 10, 64)
	return time.Unix(seconds, 0).Add(time.Duration(since) * ticks), err1 == nil && err2 == nil
}

// NoServer is the error that there is no server to connect to, or more than one.
type NoServer struct {
	Target  Target
	Several []Found
	Passed  []Passed
}

func (n *NoServer) Error() string {
	text := "no PMIx server of yours was found"
	switch {
	case len(n.Several) > 0:
		text = "there are several PMIx servers; name one by its process id or namespace:"
		for _, f := range n.Several {
			text += fmt.Sprintf(" %d (%s)", f.PID, f.URI.Namespace())
		}
	case n.Target.PID != 0:
		text += fmt.Sprintf(" with process id %d", n.Target.PID)
	case n.Target.Namespace != "":
		text += " for namespace " + n.Target.Namespace
	}
	for _, p := range n.Passed {
		text += "\npassed by: " + p.String()
	}
	return text
}

// Choose returns the server of a target among those found. The processes of a server on several
// nodes have one namespace; the first of them is taken. The error is a *NoServer.
func Choose(t Target, found []Found, passed []Passed) (Found, error) {
	fitting := slices.DeleteFunc(slices.Clone(found), func(f Found) bool { return !t.fits(f) })
	slices.SortStableFunc(fitting, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(a.URI.Rank(), b.URI.Rank()))
	})
	var distinct []Found
	for _, f := range fitting {
		if !slices.ContainsFunc(distinct, func(d Found) bool { return d.URI.Namespace() == f.URI.Namespace() }) {
			distinct = append(distinct, f)
		}
	}
	switch {
	case len(distinct) == 0:
		return Found{}, &NoServer{Target: t, Passed: passed}
	case len(distinct) > 1 && !distinct[0].System:
		return Found{}, &NoServer{Target: t, Several: distinct, Passed: passed}
	}
	return distinct[0], nil
}

// process returns the process id that the target names: its own, or the last number of a namespace
// of PRRTE, which is STARTER-HOST-PID@JOB; 0: none.
func (t Target) process() int {
	if t.PID != 0 {
		return t.PID
	}
	server, _, _ := strings.Cut(t.Namespace, "@")
	pid, err := strconv.Atoi(server[strings.LastIndexByte(server, '-')+1:])
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// fits compares process ids exactly, and namespaces without the number of the job.
func (t Target) fits(f Found) bool {
	if t.PID != 0 && t.PID != f.PID {
		return false
	}
	server, _, _ := strings.Cut(f.URI.Namespace(), "@")
	wanted, _, _ := strings.Cut(t.Namespace, "@")
	return t.Namespace == "" || server == wanted
}

// order orders servers: the system's server comes first.
func (f Found) order() int {
	if f.System {
		return 0
	}
	return 1
}

// Locate returns the server of a target, from its file or from the directories. If the target names
// a process, its temporary directories are searched as well.
func Locate(t Target, dirs []string) (Found, error) {
	if t.File == "" {
		if pid := t.process(); pid != 0 {
			dirs = slices.Concat(dirs, Directories(launch.EnvironOf(pid)))
			slices.Sort(dirs)
			dirs = slices.Compact(dirs)
		}
		found, passed := Search(dirs)
		return Choose(t, found, passed)
	}
	r, err := read(t.File)
	if err != nil {
		return Found{}, &NoServer{Target: t, Passed: []Passed{{t.File, err}}}
	}
	return Found{r, isSystem(t.File)}, nil
}

// harmed are programs of servers that a connection of a tool kills, with all their jobs: Open MPI
// 4's mpirun and Slurm's step daemon, with a libpmix before 5 (seen with 4.2.2).
var harmed = []string{"orterun", "mpirun", "mpirun.openmpi", "orted", "slurmstepd", "srun"}

// Harm is the error that a server would not survive a connection.
type Harm struct {
	Program string
	Version Version
}

func (h *Harm) Error() string {
	return fmt.Sprintf("%s with libpmix %s ends, with its jobs, when a tool connects: not connected (its jobs are reached by MPIR: sdm attach PID, sdm run -- mpirun …; --force connects anyway)", h.Program, h.Version)
}

// CheckHarm returns a *Harm if a connection would end the server, as seen from the program that
// it executes.
func CheckHarm(f Found) error {
	exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(f.PID), "exe"))
	if err != nil {
		return nil // it is not ours to read; it was not recognised
	}
	return harmOf(filepath.Base(strings.TrimSuffix(exe, " (deleted)")), f.Version)
}

func harmOf(program string, v Version) error {
	if slices.Contains(harmed, program) && v.Major < 5 {
		return &Harm{program, v}
	}
	return nil
}
