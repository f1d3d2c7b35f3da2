// The command line of torchrun, which runs a Python script in its slots.

package slot

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// torchrunModule is what torchrun is short for: python -m torch.distributed.run.
const torchrunModule = "torch.distributed.run"

// IsTorchrun reports whether a command line is one of torchrun. python is the interpreter that the
// line itself names; "": the one that the file torchrun names.
func IsTorchrun(argv []string) (python string, is bool) {
	if len(argv) == 0 {
		return "", false
	}
	if base(argv[0]) == "torchrun" {
		return "", true
	}
	if strings.HasPrefix(filepath.Base(argv[0]), "python") && len(argv) > 2 && argv[1] == "-m" && argv[2] == torchrunModule {
		return argv[0], true
	}
	return "", false
}

// ParseTorchrun reads a command line of torchrun. By itself torchrun puts the interpreter before
// the script. In the result the interpreter is the program in the slots and the script its argument
// (--no_python). Workers are not started again (--max_restarts=0): new workers would be new
// processes, and the session has only the servers of the first ones. python is the interpreter
// (sys.executable of torchrun).
func ParseTorchrun(argv []string, python string) (Line, error) {
	p := torchrunLine{line: argv, at: 1}
	if _, is := IsTorchrun(argv); is && base(argv[0]) != "torchrun" {
		p.at = 3
	}
	p.kept = slices.Clone(argv[:p.at])
	for p.at < len(argv) && isOption(argv[p.at]) && argv[p.at] != "--" {
		if err := p.option(); err != nil {
			return Line{}, err
		}
	}
	if p.at < len(argv) && argv[p.at] == "--" {
		p.at++
	}
	if p.at >= len(argv) {
		return Line{}, fmt.Errorf("%s: which script? (torchrun [its options] SCRIPT [ARG...])", argv[0])
	}
	program := argv[p.at:]
	if !p.plain {
		head := []string{python, "-u"}
		if p.module {
			head = append(head, "-m")
		}
		program = append(head, program...)
	}
	line := append(p.kept, "--max_restarts=0", "--no_python")
	return Line{
		Argv:       append(line, program...),
		Programs:   []Program{{At: len(line), End: len(line) + len(program)}},
		IsTorchrun: true, Restarts: p.restarts,
	}, nil
}

// torchrunLine reads a command line of torchrun from left to right.
type torchrunLine struct {
	line          []string
	at            int      // index of the next word
	kept          []string // options that stay
	plain, module bool     // --no_python, --module
	restarts      string   // value of --max_restarts
}

// option reads the option at p.at.
func (p *torchrunLine) option() error {
	text := p.line[p.at]
	name, value, joined := strings.Cut(text, "=")
	name = torchrunOption(name)
	values := 1
	if joined || slices.Contains(torchrunBare, name) {
		values = 0
	}
	next := min(p.at+1+values, len(p.line))
	if values == 1 && p.at+1 < len(p.line) {
		value = p.line[p.at+1]
	}
	switch name {
	case "m", "module":
		p.module = true
	case "no_python":
		p.plain = true
	case "max_restarts":
		p.restarts = value
	case "run_path":
		return errors.New("--run_path runs the script inside of torchrun's own process, where sdm cannot put its servers before it (leave it out)")
	default:
		p.kept = append(p.kept, p.line[p.at:next]...)
	}
	p.at = next
	return nil
}

// torchrunOption returns the full name of an option. Words are joined by dashes or underscores, and
// may be abbreviated as argparse permits.
func torchrunOption(text string) string {
	name := strings.ReplaceAll(strings.TrimLeft(text, "-"), "-", "_")
	if !strings.HasPrefix(text, "--") || slices.Contains(torchrunBare, name) || slices.Contains(torchrunValued, name) {
		return name
	}
	var found []string
	for _, full := range slices.Concat(torchrunBare, torchrunValued) {
		if strings.HasPrefix(full, name) {
			found = append(found, full)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return name
}

// The options of torchrun 1.13 to 2.8 (torch/distributed/run.py). An option that is not here has a
// value. The tables are never written.
var (
	torchrunBare   = []string{"m", "module", "no_python", "run_path", "standalone", "virtual_local_rank", "h", "help"}
	torchrunValued = []string{
		"nnodes", "nproc_per_node", "rdzv_backend", "rdzv_endpoint", "rdzv_id", "rdzv_conf", "max_restarts", "monitor_interval",
		"start_method", "role", "log_dir", "r", "redirects", "t", "tee", "local_ranks_filter", "node_rank", "master_addr",
		"master_port", "local_addr", "logs_specs", "event_log_handler", "numa_binding", "signals_to_handle",
	}
)

// Within replaces the programs of a line that are themselves lines of torchrun: srun torchrun … has
// a slot for each worker, not for each agent. python returns the interpreter of torchrun.
func (l Line) Within(python func(argv []string) string) (Line, error) {
	out := Line{IsOpenMPI: l.IsOpenMPI}
	last := 0
	for i, p := range l.Programs {
		out.Argv = append(out.Argv, l.Argv[last:p.At]...)
		last = p.End
		words := l.Words(i)
		if _, is := IsTorchrun(words); !is {
			p.At, p.End = len(out.Argv), len(out.Argv)+len(words)
			out.Argv, out.Programs = append(out.Argv, words...), append(out.Programs, p)
			continue
		}
		inner, err := ParseTorchrun(words, python(words))
		if err != nil {
			return Line{}, err
		}
		start := len(out.Argv)
		out.Argv = append(out.Argv, inner.Argv...)
		out.Programs = append(out.Programs, Program{At: start + inner.Programs[0].At, End: len(out.Argv)})
		out.IsTorchrun, out.Restarts = true, inner.Restarts
	}
	out.Argv = append(out.Argv, l.Argv[last:]...)
	return out, nil
}
