"""Rules about LLMInferenceServices."""
