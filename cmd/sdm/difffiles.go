// sdm diff-files: what has changed between two hang files.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"sdm/master/frontend/console"
	"sdm/master/hangfile"
	"sdm/master/hangfile/compare"
)

const usageDiffFiles = `sdm diff-files [flags] FILE FILE

Tells what has changed between two hang files, of one job at two times or of two runs: the ranks
that have other stacks or calls and those that have the same, where they were (-) and are (+), and
what else differs: verdict, ends of ranks, values, hosts, versions, output. What is
below a function of MPI is not compared, since it differs at any two instants; nor are the times, the
number of the job, its host and its directory.

Exit status: 0 nothing has changed; 1 something has, or standard output cannot be written; 2 wrong
usage, or a file is no hang file.

`

// diffOptions are the values of the flags of sdm diff-files.
type diffOptions struct{ json bool }

// flags returns the flags of sdm diff-files.
func (o *diffOptions) flags() *flagSet {
	f := newFlags("diff-files")
	f.SetInterspersed(true)
	f.add("Flags", func(f *pflag.FlagSet) { f.BoolVar(&o.json, "json", false, "one JSON object") })
	return f
}

// diffFiles executes sdm diff-files.
func (a *app) diffFiles(args []string) console.Status {
	var o diffOptions
	f := o.flags()
	if status, done := a.read(f, args, diffFilesHelp); done {
		return status
	}
	if f.NArg() != 2 {
		return a.fail(console.StatusUsage, fmt.Errorf("which two hang files? (sdm diff-files FILE FILE, not %d)", f.NArg()))
	}
	var files [2]*hangfile.File
	for i, path := range f.Args() {
		var err error
		if files[i], err = readHangFile(context.Background(), path); err != nil {
			return a.fail(console.StatusUsage, err)
		}
	}
	changes := compare.Of(files[0], files[1])
	write := changes.WriteText
	if o.json {
		write = changes.WriteJSON
	}
	if err := write(a.out); err != nil {
		return a.fail(console.StatusRankFailed, err)
	}
	if changes.Equal {
		return console.StatusGood
	}
	return console.StatusRankFailed
}

// readHangFile reads a hang file; the error tells how such files are made.
func readHangFile(ctx context.Context, path string) (*hangfile.File, error) {
	file, err := hangfile.ReadFile(ctx, path)
	if errors.Is(err, hangfile.ErrNotHangFile) {
		return nil, fmt.Errorf("%w (sdm watch, or sdm waits --hang-file -o FILE, writes one)", err)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file", path)
	}
	return file, err
}
