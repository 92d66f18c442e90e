import { describe, expect, test } from 'vitest'
import { splitWords } from '../../src/cli/slash.ts'

describe('words typed after a slash command', () => {
  test.each<[string, string[]]>([
    ['', []],
    ['  \n ', []],
    ['--progress done', ['--progress', 'done']],
    [
      '--decision "Using mutex" --rationale="it\'s simpler"',
      ['--decision', 'Using mutex', "--rationale=it's simpler"],
    ],
    ["--progress it's done", ['--progress', "it's", 'done']],
    ["--note 'two words' --goal='a b'", ['--note', 'two words', '--goal=a b']],
    ["'it's simple'", ["it's simple"]],
    ['--next "open', ['--next', '"open']],
    ['--next \'open and "shut"', ['--next', "'open", 'and', 'shut']],
    ['"a \\"b\\" \\\\ \\n"', ['a "b" \\ \\n']],
    [
      '$(rm -rf x) `date` $HOME; ls | cat > y',
      ['$(rm', '-rf', 'x)', '`date`', '$HOME;', 'ls', '|', 'cat', '>', 'y'],
    ],
    ['--decision "D" \\\n  --rationale="R"', ['--decision', 'D', '--rationale=R']],
    ['first\nsecond', ['first', 'second']],
    ['"in\ntwo lines"', ['in\ntwo lines']],
    ['""', ['']],
    ['--goal=""', ['--goal=']],
    ['a"b c"d', ['a"b', 'c"d']],
    ['C:\\temp ünï 🚀', ['C:\\temp', 'ünï', '🚀']],
  ])('%j are %j', (line, words) => {
    expect(splitWords(line)).toEqual(words)
  })
})
