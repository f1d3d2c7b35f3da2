package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/protocol"
)

// If the master is in one job with the servers of an MPI program, MPI_Init would wait for it
// without end. So it must be refused.
func TestMPIInOneLine(t *testing.T) {
	program := mpiProgram(t)
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	line := []string{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=3"}
	m := start(t, line, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0")
	c := newCrew(t, file)
	c.slot = program
	c.register(m.rendezvous(), 3, 0)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := client.Initialize(ctx, rpc.Setup{})
	for _, want := range []string{"is an MPI program", "MPI_Init would wait", "mpirun -n 2 sdm-server"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error without %q: %v", want, err)
		}
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(exitNoTree)
	c.group.Wait()
	if len(c.errors) != 1 || !strings.Contains(c.errors[0], "MPI_Init") {
		t.Errorf("the server was told %q", c.errors)
	}
}

// Without MPI the same line is valid, as the original SDM was started.
func TestOneLineWithoutMPI(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	line := []string{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=3"}
	m := start(t, line, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0")
	c := newCrew(t, file)
	c.slot = "/bin/sh"
	c.register(m.rendezvous(), 3, 0, 1)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	report, err := client.Initialize(ctx, rpc.Setup{})
	if err != nil || report.Servers != 2 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	mpi := session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: mpiProgram(t)}}}
	_, err = client.Do(ctx, mpi)
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Kind != protocol.FaultLaunch || !strings.Contains(fault.Message, "MPI_Init") {
		t.Errorf("launch of an MPI program: %v", err)
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(0)
}

// mpiProgram builds a program that is linked with a library that has the name of an MPI library.
func mpiProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	gcc := func(source, out string, args ...string) {
		t.Helper()
		cmd := exec.Command("gcc", append([]string{"-x", "c", "-", "-o", filepath.Join(dir, out)}, args...)...)
		cmd.Stdin = strings.NewReader(source)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, text)
		}
	}
	gcc("int MPI_Init(void) { return 0; }", "libmpi.so.40", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40")
	gcc("int MPI_Init(void); int main(void) { return MPI_Init(); }", "program", "-x", "none", filepath.Join(dir, "libmpi.so.40"))
	return filepath.Join(dir, "program")
}
