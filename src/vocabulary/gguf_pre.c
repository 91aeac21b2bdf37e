// gguf_pre.c - how the vocabularies of GGUF cut text into words, by the name that tokenizer.ggml.pre gives it.
#include "vocabulary/gguf_vocabulary.h"

#include <string.h>

#define WHOLE HOLO_GGUF_WHOLE
#define BOS   HOLO_GGUF_BOS
#define RAW   HOLO_GGUF_RAW

// What several expressions share.
#define ENDINGS           "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define GPT_2             "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
#define LETTERS           "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define OPENS             "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
#define OPENS_LARGE       "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
#define SIGNS             "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define SIGNS_AND_SLASHES "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"
#define SPACES            "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const HoloGgufPre rows[] = {
    {"default", 0, {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT_2, "\\p{N}+", "[0-9][0-9][0-9]"}},
    {"minicpm5", WHOLE, {"\\p{N}{1,3}", ENDINGS "|" LETTERS "|\\p{N}+" SIGNS SPACES}},
    {"llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
     WHOLE | BOS,
     {ENDINGS "|" LETTERS "|\\p{N}{1,3}" SIGNS SPACES}},
    {"dbrx smaug-bpe glm4 chatglm-bpe", 0, {ENDINGS "|" LETTERS "|\\p{N}{1,3}" SIGNS SPACES}},
    {"jais-2",
     0,
     {ENDINGS "|" LETTERS "|\\p{N}{1,3}" SIGNS
              "|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!"
              "\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}"}},
    {"deepseek-llm",
     0,
     {"[\r\n]",
      "\\s?[A-Za-z\\x{00B5}\\x{00C0}-\\x{00D6}\\x{00D8}-\\x{00F6}\\x{00F8}-\\x{01BA}\\x{01BC}-"
      "\\x{01BF}\\x{01C4}-\\x{0293}\\x{0295}-\\x{02AF}\\x{0370}-\\x{0373}\\x{0376}\\x{0377}"
      "\\x{037B}-\\x{037D}\\x{037F}\\x{0386}\\x{0388}-\\x{038A}\\x{038C}\\x{038E}-\\x{03A1}"
      "\\x{03A3}-\\x{03F5}\\x{03F7}-\\x{0481}\\x{048A}-\\x{052F}\\x{0531}-\\x{0556}\\x{10A0}-"
      "\\x{10C5}\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}"
      "\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-"
      "\\x{1F1D}\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}"
      "\\x{1F5D}\\x{1F5F}-\\x{1F7D}\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}\\x{1FC2}-"
      "\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}"
      "\\x{1FF2}-\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}\\x{2115}"
      "\\x{2119}-\\x{211D}\\x{2124}\\x{2126}\\x{2128}\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}"
      "\\x{2139}\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}\\x{2183}\\x{2184}\\x{2C00}-"
      "\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}"
      "\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-"
      "\\x{ABBF}\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}"
      "\\x{10400}-\\x{1044F}\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}\\x{10C80}-\\x{10CB2}"
      "\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}\\x{1E900}-\\x{1E943}]+",
      "\\s?[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}\\x{3000}-\\x{3002}]+", "\\s+$",
      "[\\x{4E00}-\\x{9FA5}\\x{0800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+", "\\p{N}+"}},
    {"deepseek-coder",
     0,
     {"[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[\\x{4E00}-\\x{9FA5}\\x{0800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+",
      "\\p{N}"}},
    {"deepseek-v3 hunyuan-dense joyai-llm",
     0,
     {"\\p{N}{1,3}", "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p"
      "{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"}},
    {"youtu",
     WHOLE,
     {"[\\x{AC00}-\\x{D7A3}\\x{3131}-\\x{318E}]+|[\\x{FF01}\\x{2026}\\x{201C}\\x{201D}\\x{2018}"
      "\\x{2019}\\x{2014}\\x{FF1A}\\x{FF1B}\\x{FF0C}\\x{3001}-\\x{303F}\\x{FE30}-\\x{FE4F}]+|["
      "\\x{3105}-\\x{312F}]+|[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+",
      OPENS ENDINGS "?|" OPENS_LARGE ENDINGS "?|\\p{N}" SIGNS_AND_SLASHES SPACES}},
    {"falcon", 0, {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT_2, "[0-9][0-9][0-9]"}},
    {"starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", 0, {"\\p{N}", GPT_2}},
    {"gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jina-v1-en "
     "jina-v2-code roberta-bpe mpt olmo jais trillion granite-docling exaone4",
     0,
     {GPT_2}},
    {"qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 hunyuan solar-open megrez grok-2",
     0,
     {ENDINGS "|" LETTERS "|\\p{N}" SIGNS SPACES}},
    {"qwen35",
     0,
     {ENDINGS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" SPACES}},
    {"poro-chat bloom gpt3-finnish",
     0,
     {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{0964}\\x{06D4}\\x{060C})]+"}},
    {"viking", 0, {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{0964}\\x{06D4}\\x{060C})]+", "\\p{N}"}},
    {"tekken", WHOLE | BOS, {OPENS "|" OPENS_LARGE "|\\p{N}" SIGNS_AND_SLASHES SPACES}},
    {"chameleon",
     BOS,
     {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", "\\p{N}",
      "[\\p{P}!-/:-@\\[-`{-~]", GPT_2}},
    {"gpt-4o llama4 kanana2 talkie minimax-m2",
     0,
     {OPENS ENDINGS "?|" OPENS_LARGE ENDINGS "?|\\p{N}{1,3}" SIGNS_AND_SLASHES SPACES}},
    {"granite-embed-multi-97m",
     WHOLE,
     {OPENS ENDINGS "?|" OPENS_LARGE ENDINGS "?|\\p{N}{1,3}" SIGNS_AND_SLASHES SPACES}},
    {"tiny_aya cohere2moe",
     0,
     {"\\d{1,3}(?=(?:\\d{3})*\\b)", OPENS ENDINGS "?|" OPENS_LARGE ENDINGS "?|\\p{N}{1,3}" SIGNS_AND_SLASHES SPACES}},
    {"superbpe", 0, {"\\p{N}+", "(?=(\\d{3})+(?!\\d))"}},
    {"bailingmoe bailingmoe2 llada-moe",
     0,
     {"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|" LETTERS "|\\p{N}" SIGNS "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
    {"seed-coder", 0, {ENDINGS "|" LETTERS "|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+" SPACES}},
    {"kimi-k2",
     0,
     {"\\p{Han}+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*[\\p{Ll}"
      "\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+" ENDINGS
      "?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+[\\p{Ll}\\p{Lm}"
      "\\p{Lo}\\p{M}&&[^\\p{Han}]]*" ENDINGS "?|\\p{N}{1,3}" SIGNS_AND_SLASHES SPACES}},
    {"afmoe",
     0,
     {"\\p{Nd}{1,3}(?=(?:\\p{Nd}{3})*(?!\\p{Nd}))",
      "[\\x{4E00}-\\x{9FFF}\\x{3400}-\\x{4DBF}\\x{8C48}-\\x{FAFF}\\x{3040}-\\x{309F}\\x{30A0}-"
      "\\x{30FF}\\x{FF65}-\\x{FF9F}\\x{2F00}-\\x{2FDF}\\x{0E40}-\\x{0E7F}\\x{0E80}-\\x{0EFF}"
      "\\x{1780}-\\x{17FF}\\x{1000}-\\x{109F}\\x{AA60}-\\x{AA7F}\\x{A9E0}-\\x{A9FF}\\x{AC00}-"
      "\\x{D7AF}\\x{1100}-\\x{11FF}]+",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}"
      "\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*" SPACES}},
    {"exaone-moe",
     0,
     {ENDINGS "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+["
              "\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
    {"gemma4 granite-embed-multi-311m sarvam-moe", RAW, {"[^\\n]+|[\\n]+"}},
};

// Whether a word is one of a list with spaces between them.
static bool has_word(const char *list, HoloString word)
{
    while (*list) {
        size_t size = strcspn(list, " ");
        if (size == word.size && !memcmp(list, word.data, size)) return true;
        list += size + (list[size] == ' ');
    }
    return false;
}

const HoloGgufPre *holo_gguf_pre(HoloString name)
{
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (has_word(rows[i].names, name)) return &rows[i];
    return NULL;
}
