// What system calls, fresh pages and starts of processes cost on this machine.

package main

import (
	"os/exec"
	"syscall"
	"time"
)

const (
	machineCalls  = 200_000
	machinePages  = 1 << 14
	machineStarts = 50
)

// benchMachine measures what the absolute times of all other rows depend on: where the guest's page tables are
// kept by its host, a system call takes a microsecond, and a new page more than ten.
func benchMachine(b *bench) {
	began := time.Now()
	for range machineCalls {
		syscall.Getppid()
	}
	b.table.add(row{what: "this machine: a system call", unit: "ns", ours: float64(time.Since(began).Nanoseconds()) / machineCalls})

	page := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, machinePages*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		fatal("memory", err)
	}
	began = time.Now()
	for i := 0; i < len(memory); i += page {
		memory[i] = 1
	}
	b.table.add(row{what: "this machine: a page of memory that is new", unit: "ns", ours: float64(time.Since(began).Nanoseconds()) / machinePages})
	_ = syscall.Munmap(memory) // the addresses are those of Mmap

	began = time.Now()
	for range machineStarts {
		if err := exec.Command("/bin/true").Run(); err != nil {
			fatal("/bin/true", err)
		}
	}
	b.table.add(row{what: "this machine: start and end of /bin/true", unit: "ms", ours: time.Since(began).Seconds() * 1000 / machineStarts})
}
