// Checks of the arguments of samples.

package sampling

import (
	"fmt"
	"time"

	"sdm/protocol"
)

// Limits of samples; a thousand samples one hour apart are more than a user needs.
const (
	maxSamples   = 1000
	longestEvery = time.Hour
	defaultEvery = time.Second
)

// Check returns a fault if the arguments of samples are invalid.
func Check(a protocol.Args) *protocol.Fault {
	every, err := readEvery(a.Every)
	switch {
	case a.Samples < 0 || a.Samples > maxSamples:
		return usage("", "%d samples make no sense; 1 to %d do", a.Samples, maxSamples)
	case err != nil || every < 0 || every > longestEvery:
		return usage("1s, 200ms", "%q cannot be the time between samples", protocol.Clip(a.Every))
	case a.Progress && a.Samples != 0:
		return usage("", "stacks with progress are one sample, compared with the one before")
	case a.Expr != "" && !a.Progress:
		return usage("", "a variable is looked at with progress only")
	case a.Every != "" && a.Samples == 0:
		return usage("samples says how many", "a time between samples needs samples")
	}
	return nil
}

func usage(hint, format string, args ...any) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultUsage, Op: command, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func readEvery(text string) (time.Duration, error) {
	if text == "" {
		return defaultEvery, nil
	}
	return time.ParseDuration(text)
}
