// A server without a terminal, in the environment of a rank.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sdm/launch"
)

// giveUpStreams redirects the standard streams to /dev/null, because a remote shell waits until its
// command has closed them. It is called when the server has registered.
func giveUpStreams() error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(null)
	for fd := range 3 {
		if err := unix.Dup3(null, fd, 0); err != nil {
			return err
		}
	}
	return nil
}

// takeSettings replaces the environment and the working directory of the server by a rank's. A
// remote shell or starter gives its daemons little of the user's environment, which gdb needs.
// Variables that make a process a rank or load something into it are left out; sdm's own (SDM_*)
// stay as they were.
func takeSettings(pid int) error {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	b, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return fmt.Errorf("--like-ranks: %w", err)
	}
	env := mergedEnviron(strings.Split(string(b), "\x00"), os.Environ())
	os.Clearenv()
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("--like-ranks: process %d: %s: %w", pid, name, err)
		}
	}
	if err := os.Chdir(filepath.Join(dir, "cwd")); err != nil {
		return fmt.Errorf("--like-ranks: %w", err)
	}
	return nil
}

// ownEnvironment returns the environment before takeSettings; nil if that was not called.
func (o *options) ownEnvironment() []string {
	if o.own == nil {
		return nil
	}
	if own := o.own.Load(); own != nil {
		return *own
	}
	return nil
}

// notTaken are the variables that takeSettings leaves out, for launch.HasName: they make a process a
// rank, load something into it, or are ours.
var notTaken = append(launch.RankVariables(), "LD_PRELOAD", "LD_AUDIT", "LD_DEBUG", "LD_DEBUG_", "SDM_")

// mergedEnviron returns the environment of the server after takeSettings: a rank's without
// notTaken, and the server's own SDM_*.
func mergedEnviron(ranks, own []string) []string {
	var env []string
	for _, e := range ranks {
		name, _, ok := strings.Cut(e, "=")
		if ok && name != "" && !launch.HasName(notTaken, name) {
			env = append(env, e)
		}
	}
	for _, e := range own {
		if strings.HasPrefix(e, "SDM_") {
			env = append(env, e)
		}
	}
	return env
}
