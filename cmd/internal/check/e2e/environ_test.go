package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// spy is a library that records the name of each program that loads it.
const spy = `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void note(void)
{
    char name[64] = "", line[80];
    int in = open("/proc/self/comm", O_RDONLY), out = open(NOTES, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (read(in, name, sizeof name - 1) > 0 && out >= 0) {
        snprintf(line, sizeof line, "%s", name);
        write(out, line, strlen(line));
    }
    close(in);
    close(out);
}
`

// TestEnvironmentReachesTheRanksAlone preloads a library into the ranks, by both of the dangerous
// variables. Neither the starter nor its helpers, servers or gdbs may load it.
func TestEnvironmentReachesTheRanksAlone(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			notes := filepath.Join(s.dir, "notes")
			source := s.file("spy.c", spy, 0o600)
			if err := build([]string{"gcc", "-shared", "-fPIC", "-DNOTES=\"" + notes + "\"", "-o", filepath.Join(s.dir, "libspy.so"), source}); err != nil {
				t.Fatal(err)
			}
			front := s.slotRun(2, "-b", "-e", "continue", "--env", "LD_LIBRARY_PATH="+s.dir, "--env", "LD_PRELOAD=libspy.so",
				"--starter-env", "OF_STARTER=1", "--", m.command, "-n", "2", m.program("ring"))
			front.exits(0)
			text, err := os.ReadFile(notes)
			if err != nil {
				t.Fatal(err)
			}
			loaded := strings.Fields(string(text))
			slices.Sort(loaded)
			name := filepath.Base(m.program("ring"))[:15] // truncated as by the kernel
			if !slices.Equal(loaded, []string{name, name}) {
				t.Errorf("loaded by %q, want only the 2 ranks", loaded)
			}
		})
	}
}

// TestEnvironmentIsChangedInOrder uses all five directives, in an order that matters, with and
// without a starter.
func TestEnvironmentIsChangedInOrder(t *testing.T) {
	t.Parallel()
	flags := []string{
		"--env-add", "A=first", "--env-add", "A=not me", "--env-append", "A=last", "--env-prepend", "A[;]=front",
		"--env", "B=gone", "--env-unset", "B", "--env-append", "B[, ]=1", "--env-append", "B[, ]=2",
		"--env", "C=set", "--env-add", "C=not me", "--env-unset", "HOME",
	}
	check := func(t *testing.T, front *console) {
		t.Helper()
		front.exits(0)
		front.folded("A=front;first:last", "")
		front.folded("B=1, 2", "")
		front.folded("C=set", "")
		if strings.Contains(front.out.text(), "HOME=") {
			t.Errorf("HOME was not taken out%s", front.said())
		}
	}
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		args := slices.Concat([]string{"run", "-n", "2", "-b", "--stop-at", "none", "-e", "wait"}, flags, []string{"env"})
		check(t, &console{process: s.start("sdm", args...), size: 2})
	})
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			args := slices.Concat([]string{"-b", "--stop-at", "none", "-e", "wait"}, flags, []string{"--", m.command, "-n", "2", "env"})
			check(t, s.slotRun(2, args...))
		})
	}
}

// directives change the environment of ranks by all five operations, in an order that matters. None
// joins texts by different separators to a value that is not known, which PMIx cannot express.
var directives = []string{
	"--env-add", "A=first", "--env-add", "A=not me",
	"--env-append", "B=2", "--env-prepend", "B=1", "--env-append", "B=3",
	"--env", "C=gone", "--env-unset", "C", "--env-append", "C[,]=4", "--env-append", "C[,]=5",
	"--env", "D=set", "--env-add", "D=not me", "--env-prepend", "D[;]=front",
	"--env", "E=gone", "--env-unset", "E", "--env-unset", "OF_THE_SERVER",
	"--env-prepend", "PATH=/in/front",
}

// ofTheServer is a variable that starters and PMIx servers have themselves.
const ofTheServer = "OF_THE_SERVER=1"

// showDirected are the commands that show what directives have done, and directed what they show.
var (
	showDirected = []string{
		"-b", "-e", `print (char *)getenv("A")`, "-e", `print (char *)getenv("B")`, "-e", `print (char *)getenv("C")`,
		"-e", `print (char *)getenv("D")`, "-e", `print (long)getenv("E")`, "-e", `print (long)getenv("OF_THE_SERVER")`,
		"-e", `print (int)strncmp((char *)getenv("PATH"), "/in/front:/", 11)`, "-e", "kill",
	}
	directed = []string{`"first"`, `"1:2:3"`, `"4,5"`, `"front;set"`, `getenv("E") = 0`, `getenv("OF_THE_SERVER") = 0`, `11) = 0`}
)

// TestDirectivesOfAllLaunchers gives the same directives to the ranks of each launcher of one host
// that takes them: what comes out is the same. TestSlurm has the ranks of srun.
func TestDirectivesOfAllLaunchers(t *testing.T) {
	t.Parallel()
	line := slices.Concat(showDirected, directives)
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		s.env = append(s.env, ofTheServer)
		front := s.start("sdm", slices.Concat([]string{"run", "-n", "2"}, line, []string{program("work")})...)
		front.status(patience)
		front.says(directed...)
	})
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.env = append(s.env, ofTheServer)
			front := s.slotRun(2, slices.Concat(line, []string{"--", m.command, "-n", "2", m.program("ring")})...)
			front.status(patience)
			front.says(directed...)
		})
	}
	eachPRRTE(t, func(s *scene, r *launchtest.Root) {
		s.env = append(s.env, ofTheServer)
		// The job's come before a program's, which are for that program alone.
		run := slices.Concat([]string{"-c", withPRRTE, "sh", "sdm", "run", "--launcher", "pmix", "--map-by", "slot:oversubscribe", "--bind-to", "none",
			"-e", `print (char *)getenv("J")`, "-e", `print (char *)getenv("K")`}, line, []string{"--env", "J=job", "-n", "1", "--env", "K=own", openMPI.program("ring"), ":",
			"-n", "1", "--env-append", "J=program", openMPI.program("ring")})
		front := s.inRoot(r, "sh", run...)
		front.status(patience)
		front.says(directed...)
		front.says(`"job"`, `"job:program"`, `"own"`, `[1] (char *)getenv("K") = 0x0`)
	})
}

// TestProgramsWithFlagsOfTheirOwn has several programs in one job. Flags before -n apply to all of
// them, and first.
func TestProgramsWithFlagsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.start("sdm", "run", "-b", "--stop-at", "none", "-e", "wait", "--env", "A=all", "-n", "2", "--env-append", "A=a", "sh", "-c", `echo $A $SDM_RANK of $SDM_SIZE`,
		":", "-n", "1", "--env-prepend", "A=b", "--cwd", "/", "sh", "-c", `echo $A $SDM_RANK of $SDM_SIZE in $(pwd)`, ":", "-n", "1", "echo", ":", "and", "more")
	front.exits(0)
	for i, want := range []string{"all:a 0 of 4", "all:a 1 of 4", "b:all 2 of 4 in /", ": and more"} {
		front.says(fmt.Sprintf("[%d] %s\n", i, want))
	}
}
