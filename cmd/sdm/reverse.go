// --reverse: ranks that can run backwards.

package main

import (
	"errors"
	"fmt"
)

// validateReverse checks --reverse and the flags that exclude it.
func (o *options) validateReverse() error {
	switch {
	case !o.gdb.Reverse:
		return nil
	case o.gdb.RanksPerGDB != "auto" && o.gdb.RanksPerGDB != "" && o.gdb.RanksPerGDB != "1":
		return fmt.Errorf("--reverse needs a gdb for each rank, not --ranks-per-gdb %s", o.gdb.RanksPerGDB)
	case o.stopAt == "none" || o.stopAt == "entry":
		return errors.New("--reverse records from the first stop on, behind the loader (--stop-at main or a location)")
	}
	return nil
}
