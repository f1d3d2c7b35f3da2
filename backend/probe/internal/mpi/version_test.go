package mpi

import "testing"

func TestVersionIn(t *testing.T) {
	for said, want := range map[string]string{
		"Open MPI v4.1.4, package: Debian Open MPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022": "Open MPI 4.1.4",
		"Open MPI v6.0.0rc2, package: Debian":                                                     "Open MPI 6.0.0rc2",
		"MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7\n":                             "MPICH 4.0.2",
		"Intel(R) MPI Library 2021.5 for Linux* OS\n":                                             "Intel(R) MPI Library 2021.5 for Linux* OS",
		"MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\nMPI BUILD :":             "CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)",
		"MVAPICH Version:\t3.0": "MVAPICH 3.0",
		"":                      "",
	} {
		if got := versionIn(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
