fn main(){ std::fs::write("rng_table.bin", lockstone_sim::Table::generate(*b"lockstone: the default table, v1").to_bytes()).unwrap(); }
