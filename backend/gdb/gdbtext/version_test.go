package gdbtext

import (
	"fmt"
	"testing"
)

func TestVersion(t *testing.T) {
	for text, want := range map[string]string{
		"GNU gdb (Debian 13.1-3) 13.1\nCopyright (C) 2023":                                                       "13.1",
		"GNU gdb (Debian 10.1-1.7) 10.1.90.20210103-git":                                                         "10.1",
		"GNU gdb (GDB) 12.1":                                                                                     "12.1",
		"GNU gdb (GDB) Red Hat Enterprise Linux 8.2-20.el8":                                                      "8.2",
		"GNU gdb (GDB; SUSE Linux Enterprise 15) 14.2\n":                                                         "14.2",
		"GNU gdb (Ubuntu 15.0.50.20240403-0ubuntu1) 15.0.50.20240403-git ":                                       "15.0",
		"GNU gdb (rocm-rel-6.0-91) 13.2":                                                                         "13.2",
		"NVIDIA (R) cuda-gdb 12.4\nPortions Copyright (C) 2007-2024 NVIDIA Corporation\nBased on GNU gdb 13.2\n": "13.2",
		"GNU gdb (GDB) 16.0.90.DATE-git":                                                                         "16.0",
		"GNU ld (GNU Binutils) 2.40":                                                                             "none",
		"GNU gdb (GDB) unknown":                                                                                  "none",
		"":                                                                                                       "none",
	} {
		got := "none"
		if major, minor, ok := Version(text); ok {
			got = fmt.Sprintf("%d.%d", major, minor)
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func FuzzVersion(f *testing.F) {
	f.Add("GNU gdb (Debian 13.1-3) 13.1\n")
	f.Add("Based on GNU gdb 99999.99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		if major, minor, ok := Version(text); major < 0 || minor < 0 || !ok && major+minor != 0 {
			t.Errorf("%q: got %d.%d, %v", text, major, minor, ok)
		}
	})
}
