// --reverse: ranks that can run backwards.

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

func (o *options) declareReverse(f *pflag.FlagSet) {
	f.BoolVar(&o.reverse, "reverse", false, "record what the ranks do from their first stop on, so that they can run backwards: a gdb each, and a thousand times slower (help reverse-continue)")
}

// validateReverse checks --reverse and the flags that exclude it.
func (o *options) validateReverse() error {
	switch {
	case !o.reverse:
		return nil
	case o.ranksPerGDB != "auto" && o.ranksPerGDB != "" && o.ranksPerGDB != "1":
		return fmt.Errorf("--reverse needs a gdb for each rank, not --ranks-per-gdb %s", o.ranksPerGDB)
	case o.stopAt == "none" || o.stopAt == "entry":
		return errors.New("--reverse records from the first stop on, behind the loader (--stop-at main or a location)")
	}
	return nil
}
