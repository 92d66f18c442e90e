import { describe, expect, test } from 'vitest'
import { commandWords } from '../../src/text/command-words.ts'

describe('splitting a command into words', () => {
  test.each<[string, string[]]>([
    ['', []],
    [' \n\t ', []],
    ['gemini --acp', ['gemini', '--acp']],
    ['  docker run\n  --rm ', ['docker', 'run', '--rm']],
    ['"/a b/agent" \'two words\'', ['/a b/agent', 'two words']],
    ['--mount type=bind,src="{tree}",dst=/w', ['--mount', 'type=bind,src={tree},dst=/w']],
    ['a\'b c\'d"e f"', ['ab cde f']],
    ['""', ['']],
    ["x ''", ['x', '']],
    ['a\\ b \\"c\\"', ['a b', '"c"']],
    ['"a \\"b\\" \\\\ \\n \\$x"', ['a "b" \\ \\n $x']],
    ['\'a \\ "b"\'', ['a \\ "b"']],
    [
      '$HOME ~ *.ts $(rm x) `date`; ls | cat > y && z # all',
      '$HOME ~ *.ts $(rm x) `date`; ls | cat > y && z # all'.split(' '),
    ],
  ])('%j gives %j', (line, words) => {
    expect(commandWords(line)).toEqual(words)
  })

  test.each(['"open', "it's", 'a "b" \'c', 'a\\'])(
    'returns nothing for %j, where a quotation does not end',
    (line) => {
      expect(commandWords(line)).toBeUndefined()
    },
  )
})
