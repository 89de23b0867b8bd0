//! Defaults < `config.yaml` < `KB_*` < flags, merged into one [`Config`].
