// The log flags of the programs.

package startup

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/pflag"
)

// Log contains the values of the log flags.
type Log struct {
	File  string // to append to; empty: standard error
	Level string // debug, info, warn or error
}

// Declare adds --log and --log-level to flags.
func (l *Log) Declare(f *pflag.FlagSet) {
	f.StringVar(&l.File, "log", "", "`file` to log to (default: standard error)")
	f.StringVar(&l.Level, "log-level", "warn", "debug, info, warn or error")
}

// Args returns the flags for a program that should log to the same place.
func (l *Log) Args() []string {
	args := []string{"--log-level", l.Level}
	if l.File != "" {
		args = append(args, "--log", l.File)
	}
	return args
}

// Open opens the log, which goes to stderr if no file is named. The caller must close the
// io.Closer.
func (l *Log) Open(stderr io.Writer) (*slog.Logger, io.Closer, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		return nil, nil, fmt.Errorf("--log-level %q: give debug, info, warn or error", l.Level)
	}
	out, file := stderr, io.NopCloser(nil)
	if l.File != "" {
		f, err := os.OpenFile(l.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("--log: %w", err)
		}
		out, file = f, f
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})), file, nil
}
