import { Tokenizer } from 'ai-tokenizer'
import * as cl100k from 'ai-tokenizer/encoding/cl100k_base'
import * as claude from 'ai-tokenizer/encoding/claude'
import * as o200k from 'ai-tokenizer/encoding/o200k_base'

const VOCABULARIES = [claude, o200k, cl100k].map((encoding) => new Tokenizer(encoding))

/** The highest token count among the published vocabularies. */
export function realTokens(text: string): number {
  return Math.max(...VOCABULARIES.map((vocabulary) => vocabulary.encode(text, [], []).length))
}
