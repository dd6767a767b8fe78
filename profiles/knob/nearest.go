package knob

import (
	"fmt"
	"slices"
	"strings"
)

// suggest names the known word that was probably meant, if there is one: first one that has a segment more or
// less (FELIX_PUB_QUEUE_DEPTH for FELIX_BROKER_PUB_QUEUE_DEPTH), then the one of the nearest spelling.
func suggest(word string, known []string) string {
	best := ""
	for _, k := range known {
		if segmentApart(plain(word), plain(k)) {
			best = k
			break
		}
	}
	if best == "" {
		at := max(3, 1+len(plain(word))/3)
		for _, k := range known {
			if d := distance(plain(word), plain(k)); d < at {
				best, at = k, d
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// plain takes away what keys, variables and flags differ in.
func plain(word string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(word), "-", "_"), "felix_")
}

// segmentApart says whether one word is the other without one of its segments.
func segmentApart(a, b string) bool {
	short, long := strings.Split(a, "_"), strings.Split(b, "_")
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(long) != len(short)+1 || len(short) < 2 {
		return false
	}
	for i := range long {
		if slices.Equal(short, slices.Concat(long[:i], long[i+1:])) {
			return true
		}
	}
	return false
}

// maxWord bounds the words that are compared: a longer one is no misspelling of a setting.
const maxWord = 64

// distance is the number of edits between two words (Levenshtein).
func distance(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above+1, row[j-1]+1, diagonal+cost)
			diagonal = above
		}
	}
	return row[len(b)]
}
