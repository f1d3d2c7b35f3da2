// Whether a directory can hold programs that are to be executed.

package stage

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// noExec is ST_NOEXEC of statfs(2): programs on that file system cannot be executed.
const noExec = 8

// checkRoom returns an error if a directory cannot hold need bytes of programs that can be
// executed there. nil: it can, as far as can be seen without trying.
func checkRoom(dir string, need int64) error {
	switch info, err := os.Stat(dir); {
	case err != nil:
		return plain(err)
	case !info.IsDir():
		return errors.New("not a directory")
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return err
	}
	if fs.Flags&noExec != 0 {
		return errors.New("it is mounted noexec, and programs are to be run from there")
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < need {
		return fmt.Errorf("only %.1f MB are free, and %.1f MB are needed", float64(free)/1e6, float64(need)/1e6)
	}
	return nil
}

// plain removes operation and path, which the caller's text contains already.
func plain(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
