package sampler

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plugins is a program that waits in one library after another. They have the same size, and so lie
// at the same addresses.
const plugins = `
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *l = dlopen(argv[i], RTLD_NOW);
		if (!l) { puts(dlerror()); return 1; }
		void (*run)(void) = (void (*)(void))dlsym(l, "run");
		fprintf(stderr, "%p\n", (void *)run);
		run();
		dlclose(l);
	}
	return 0;
}
`

// plugin is a library that waits for a byte.
const plugin = `
#include <unistd.h>
static volatile int n;
__attribute__((noinline)) void %s(void) { char c; write(1, "r", 1); n = read(0, &c, 1); }
void run(void) { %[1]s(); n++; }
`

// TestLibraryInThePlaceOfAnother has the same sampler look at one library after another, which
// the sizes of the memory do not tell apart.
func TestLibraryInThePlaceOfAnother(t *testing.T) {
	dir := t.TempDir()
	compile := func(text, path string, flags ...string) {
		cc := exec.Command("gcc", append(flags, "-o", path, "-x", "c", "-")...)
		cc.Stdin = strings.NewReader(text)
		if text, err := cc.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	names := []string{"wait_aa", "wait_bb", "wait_aa", "wait_cc"}
	var libraries []string
	for _, name := range names {
		path := filepath.Join(dir, name+".so")
		compile(fmt.Sprintf(plugin, name), path, "-g", "-shared", "-fPIC")
		libraries = append(libraries, path)
	}
	program := filepath.Join(dir, "program")
	compile(plugins, program, "-ldl")
	p := target{Cmd: exec.Command(program, libraries...)}
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var places strings.Builder
	p.Stderr = &places
	p.start(t)
	c := New("")
	kept := 0
	for _, name := range names {
		var before string
		if known := c.processes[p.Process.Pid]; known != nil {
			before = known.size
		}
		var got string
		for !strings.HasSuffix(got, " read") {
			got = strings.Join(functions(c.Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]), "; ")
		}
		if want := "main run " + name + " read"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if c.processes[p.Process.Pid].size == before {
			kept++
		}
		if _, err := io.WriteString(in, "x"); err != nil {
			t.Fatal(err)
		}
		if name != names[len(names)-1] {
			p.expect(t, 'r')
		}
	}
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if addrs := strings.Fields(places.String()); len(slices.Compact(addrs)) != 1 {
		t.Skipf("the libraries lie at different addresses here: %s", addrs)
	}
	if kept != len(names)-1 {
		t.Skipf("the sizes of the memory differ here: %d of %d are equal", kept, len(names)-1)
	}
}
