# The same decode step with the expert implementation that transformers chooses by itself.
# CORPUS-AUDIT: --region decode-step
# CORPUS-VARIANTS: faulty
# CORPUS-NEEDS: transformers
# CORPUS-TIMEOUT: 240
# EXPECT-ELSEWHERE: *transformers/* 1
from deepseek_v4_step import main

main(["--experts", "default"])
