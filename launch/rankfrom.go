// Ranks of starters that sdm does not know: the user names the variables.

package launch

import (
	"fmt"
	"strings"
)

// RankFrom names the variables by which the processes of an unknown starter tell which rank they are
// (--rank-from). The zero value reads the variables of the known starters.
type RankFrom struct{ own *starter }

// maxRankFrom bounds the text of a RankFrom, in bytes.
const maxRankFrom = 1 << 10

// ParseRankFrom reads names of variables, separated by commas: of the rank, of the number of ranks,
// of the rank within its node, of the number of ranks of the node, and of the job. All but the
// first may be left out; an empty name means that there is no such variable. The empty text is the
// zero value.
func ParseRankFrom(text string) (RankFrom, error) {
	if text == "" {
		return RankFrom{}, nil
	}
	names := strings.Split(text, ",")
	if len(text) > maxRankFrom || len(names) > 5 || names[0] == "" {
		return RankFrom{}, fmt.Errorf("%q is not RANK[,SIZE[,LOCAL_RANK[,LOCAL_SIZE[,JOB]]]], names of variables", text)
	}
	lists := make([][]string, 5)
	for i, name := range names {
		if strings.ContainsAny(name, "= \t\n\x00") {
			return RankFrom{}, fmt.Errorf("%q is not the name of a variable", name)
		}
		if name != "" {
			lists[i] = []string{name}
		}
	}
	return RankFrom{&starter{rank: names[0], size: lists[1], local: lists[2], localSize: lists[3], job: lists[4]}}, nil
}

func (f RankFrom) starters() []starter {
	if f.own == nil {
		return starters
	}
	return []starter{*f.own}
}
