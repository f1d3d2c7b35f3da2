package slot

import (
	"strings"
	"testing"
)

func TestParseTorchrun(t *testing.T) {
	for _, c := range []struct{ line, want, restarts string }{
		{"torchrun train.py -n 5", "torchrun --max_restarts=0 --no_python S -- py -u train.py -n 5", ""},
		{"torchrun --nproc_per_node 2 --nnodes=2 -r 3 train.py", "torchrun --nproc_per_node 2 --nnodes=2 -r 3 --max_restarts=0 --no_python S -- py -u train.py", ""},
		{"torchrun --nproc-per-node 2 --standalone train.py -- x", "torchrun --nproc-per-node 2 --standalone --max_restarts=0 --no_python S -- py -u train.py -- x", ""},
		{"torchrun --stand --nproc 2 train.py", "torchrun --stand --nproc 2 --max_restarts=0 --no_python S -- py -u train.py", ""},
		{"torchrun -m --nnodes 1 pkg.train a", "torchrun --nnodes 1 --max_restarts=0 --no_python S -- py -u -m pkg.train a", ""},
		{"torchrun --module pkg.train", "torchrun --max_restarts=0 --no_python S -- py -u -m pkg.train", ""},
		{"torchrun --no-python ./app x", "torchrun --max_restarts=0 --no_python S -- ./app x", ""},
		{"torchrun --max-restarts 3 --no_python ./app", "torchrun --max_restarts=0 --no_python S -- ./app", "3"},
		{"torchrun --max_restarts=2 train.py", "torchrun --max_restarts=0 --no_python S -- py -u train.py", "2"},
		{"/usr/bin/python3 -m torch.distributed.run --nnodes 1 train.py", "/usr/bin/python3 -m torch.distributed.run --nnodes 1 --max_restarts=0 --no_python S -- py -u train.py", ""},
		{"torchrun -- train.py", "torchrun --max_restarts=0 --no_python S -- py -u train.py", ""},
		{"torchrun --run_path train.py", "--run_path runs the script inside", ""},
		{"torchrun --nnodes 1", "torchrun: which script?", ""},
		{"torchrun --nnodes", "torchrun: which script?", ""},
	} {
		line, err := ParseTorchrun(strings.Fields(c.line), "py")
		got := ""
		if err == nil {
			got = strings.Join(line.Wrap(func(int) []string { return []string{"S"} }), " ")
		} else {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) || err == nil && got != c.want || line.Restarts != c.restarts {
			t.Errorf("%s: %s (%s), want %s", c.line, got, line.Restarts, c.want)
		}
	}
}

func TestTorchrunWithin(t *testing.T) {
	for line, want := range map[string]string{
		"srun -N2 torchrun --nnodes 2 train.py x": "srun -N2 torchrun --nnodes 2 --max_restarts=0 --no_python S -- py -u train.py x",
		"srun -N2 -- torchrun train.py":           "srun -N2 -- torchrun --max_restarts=0 --no_python S -- py -u train.py",
		"srun -n2 ./app : -n1 torchrun train.py":  "srun -n2 S -- ./app : -n1 torchrun --max_restarts=0 --no_python S -- py -u train.py",
		"srun -n2 ./app a : -n1 /bin/app":         "srun -n2 S -- ./app a : -n1 S -- /bin/app",
	} {
		l, err := Parse(strings.Fields(line), "/usr/bin/srun", aProgram)
		if err == nil {
			l, err = l.Within(func([]string) string { return "py" })
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(l.Wrap(func(int) []string { return []string{"S"} }), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func FuzzParseTorchrun(f *testing.F) {
	f.Add("torchrun --nnodes 1 -m train x")
	f.Add("python3 -m torch.distributed.run --max_restarts=3 --no-python ./a")
	f.Fuzz(func(t *testing.T, text string) {
		argv := strings.Fields(text)
		if _, is := IsTorchrun(argv); !is {
			return
		}
		line, err := ParseTorchrun(argv, "py")
		if err == nil && (line.Programs[0].At >= line.Programs[0].End || line.Programs[0].End != len(line.Argv)) {
			t.Errorf("%q: %+v", text, line)
		}
	})
}
