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

// diffOptions are the values of the flags of sdm diff-files.
type diffOptions struct{ json bool }

// flags returns the flags of sdm diff-files.
func (o *diffOptions) flags() *flagSet {
	f := newFlags("diff-files", usageDiffFiles)
	f.foot = "" // its exit statuses are its own
	f.SetInterspersed(true)
	f.add("Flags", func(f *pflag.FlagSet) { f.BoolVar(&o.json, "json", false, "one JSON object") })
	return f
}

// plan reads the files.
func (o *diffOptions) plan(a *app, f *flagSet) (*plan, error) {
	if f.NArg() != 2 {
		return nil, fmt.Errorf("which two hang files? (sdm diff-files FILE FILE, not %d)", f.NArg())
	}
	var files [2]*hangfile.File
	for i, path := range f.Args() {
		var err error
		if files[i], err = readHangFile(context.Background(), path); err != nil {
			return nil, err
		}
	}
	return &plan{alone: func() console.Status { return a.tellChanges(compare.Of(files[0], files[1]), o.json) }}, nil
}

// tellChanges writes what has changed between two files.
func (a *app) tellChanges(changes *compare.Changes, asJSON bool) console.Status {
	write := changes.WriteText
	if asJSON {
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
